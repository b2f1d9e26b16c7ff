import * as z from 'zod/mini';
import { flag } from '../shapes.js';
import type { SettingRow } from './catalogue.js';
import { siteSecurityToggles } from './protections.js';

type ChoiceList<Value extends number> = z.ZodMiniArray<
  z.ZodMiniObject<{ value: z.ZodMiniLiteral<Value>; label: z.ZodMiniString; selected: typeof flag }>
>;

/** The fields of simple settings in a response: a switch is its value, a choice is a list. */
export type SettingSchemas<Rows extends readonly SettingRow[]> = {
  [Row in Rows[number] as Row['field']]: Row extends { readonly values: readonly (infer Value extends number)[] }
    ? ChoiceList<Value>
    : typeof flag;
};

/** Returns the schemas of simple settings in a response, by field. */
// @__NO_SIDE_EFFECTS__
export function settingSchemas<const Rows extends readonly Pick<SettingRow, 'field' | 'values'>[]>(
  rows: Rows,
): SettingSchemas<Rows & readonly SettingRow[]> {
  return Object.fromEntries(rows.map(({ field, values }) => [field, values ? choiceList(values) : flag])) as never;
}

function choiceList(values: readonly number[]) {
  return z.array(z.object({ value: z.literal([...values]), label: z.string(), selected: flag })).check(z.minLength(1));
}

/** The seven options in a response: 0 or 1. */
export const securityOptionsSchema = /* @__PURE__ */ z.strictObject(settingSchemas(siteSecurityToggles));

/** Whether signed requests of plugins are allowed while XML-RPC is off, and the active plugins that need them. */
export const signedXmlRpcSchema = z.object({
  signed_xml_rpc: flag,
  plugins: z.array(z.object({ id: z.string(), name: z.string() })),
});

/** A simple setting: its value, the allowed ones, and the path of the endpoint that changes it. */
export const simpleSettingSchema = z.object({
  name: z.string(),
  value: z.int(),
  values: z.array(z.int()),
  suffix: z.string(),
});
