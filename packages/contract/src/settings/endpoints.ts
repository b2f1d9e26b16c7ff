import * as z from 'zod/mini';
import { type Endpoint, endpoint } from '../endpoint.js';
import { flag, toggleValue } from '../shapes.js';
import {
  type Choice,
  type SettingGroup,
  type SettingWithCall,
  type SimpleSetting,
  simpleSettings,
} from './simple-settings.js';

/** The request of a setting. The dashboard tracks each by this name. */
export function settingRequestName<Field extends string>(field: Field): `update:${Field}` {
  return `update:${field}`;
}

/** The endpoint that changes a setting. Request and response contain its field. */
type SettingEndpoint<Field extends string> = Field extends string
  ? Endpoint<
      z.ZodMiniType<Readonly<Record<Field, number>>>,
      z.ZodMiniType<Readonly<Record<Field, number | Choice[]>>>,
      `update:${Field}`
    >
  : never;

/** Endpoints that change a simple setting. */
export type SettingCalls = SettingEndpoint<SettingWithCall['field']>;

/** One endpoint for each setting of a group that has one. */
export function settingEndpoints<Group extends SettingGroup>(
  group: Group,
): readonly SettingEndpoint<Extract<(typeof simpleSettings)[Group][number], SettingWithCall>['field']>[] {
  const settings: readonly SimpleSetting[] = simpleSettings[group];
  const calls = settings.flatMap((setting) => (setting.suffix === undefined ? [] : [settingEndpoint(setting)]));
  return calls as never;
}

function settingEndpoint({ field, suffix = '', title, summary, label, ...setting }: SimpleSetting) {
  return endpoint({
    name: settingRequestName(field),
    suffix,
    methods: ['POST'],
    summary: summary ?? `Switch "${title}" on (1) or off (0).`,
    request: z.object({ [field]: setting.values ? choiceValue(setting.values, setting.refusal) : toggleValue }),
    response: z.object({ [field]: label ? choiceList(setting.values ?? []) : flag }),
  });
}

function choiceList(values: readonly number[]) {
  return z.array(z.object({ value: z.literal([...values]), label: z.string(), selected: flag })).check(z.minLength(1));
}

/** Accepts one of these numbers, as a number or a string. */
export function choiceValue(values: readonly number[], refusal = 'Choose one of the values.') {
  return z.pipe(
    z.union([z.literal([...values]), z.literal(values.map(String))], { error: refusal }),
    z.transform((value) => Number(value)),
  );
}
