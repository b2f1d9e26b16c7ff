import { flag, toggleValue } from '@security-optimizer/contract/shapes';
import * as z from 'zod/mini';

type Schema = z.core.$ZodType;

const looseNumber = z.union([
  z.number(),
  z.pipe(
    z.string().check(z.regex(/^-?\d+$/)),
    z.transform((value) => Number(value)),
  ),
]);
const looseText = z.union([
  z.string(),
  z.pipe(
    z.number(),
    z.transform((value) => String(value)),
  ),
]);

/**
 * Makes a schema of the contract tolerant. A missing or invalid field gets an empty value ('', 0, null, []) or the one
 * in `defaults`. Invalid list items are dropped. Fields without an empty value, such as most enums, must be valid.
 */
export function tolerant<Data extends object>(
  schema: z.core.$ZodType<Data>,
  defaults: Partial<Data> = {},
): z.ZodMiniType<Data> {
  return tolerantObject(schema as unknown as z.ZodMiniObject, defaults) as unknown as z.ZodMiniType<Data>;
}

/** The valid items of a list; [] for anything else. */
export function readItems<Item>(item: z.core.$ZodType<Item>, data: unknown): Item[] {
  return z.parse(tolerantList(item), data) as Item[];
}

/** The valid fields of an object; invalid ones are dropped. */
export function readKnown<Fields extends object>(schema: z.core.$ZodType<Fields>, data: unknown): Partial<Fields> {
  const { shape } = schema as unknown as z.ZodMiniObject;
  const known: Record<string, unknown> = {};
  const fields = z.safeParse(z.looseObject({}), data);
  if (!fields.success) return known as Partial<Fields>;
  for (const [name, field] of Object.entries(shape)) {
    const read = z.safeParse(field === flag ? toggleValue : field, fields.data[name]);
    if (read.success) known[name] = read.data;
  }
  return known as Partial<Fields>;
}

function tolerantObject({ shape }: z.ZodMiniObject, defaults: object): Schema {
  const values = new Map<string, unknown>(Object.entries(defaults));
  const fields = Object.entries(shape).map(([name, field]): [string, Schema] => {
    const fallback = values.has(name) ? values.get(name) : emptyValue(field);
    return [name, fallback === undefined ? tolerantValue(field) : z.catch(tolerantValue(field), fallback)];
  });
  return z.object(Object.fromEntries(fields));
}

function tolerantValue(schema: Schema): Schema {
  if (schema === flag) return toggleValue;
  if (schema instanceof z.ZodMiniString) return looseText;
  if (schema instanceof z.ZodMiniNumber) return looseNumber;
  if (schema instanceof z.ZodMiniNullable) return z.nullable(tolerantValue(schema._zod.def.innerType));
  if (schema instanceof z.ZodMiniArray) return tolerantList(tolerantValue(schema._zod.def.element));
  if (schema instanceof z.ZodMiniObject) return tolerantObject(schema, {});
  return schema;
}

function tolerantList(item: Schema): Schema {
  const fitting = (items: unknown[]): unknown[] =>
    items.flatMap((one) => {
      const read = z.safeParse(item, one);
      return read.success ? [read.data] : [];
    });
  return z.pipe(z.catch(z.array(z.unknown()), []), z.transform(fitting));
}

/** Returns the empty value of a schema; undefined if there is none. */
function emptyValue(schema: Schema): unknown {
  if (schema === flag || schema instanceof z.ZodMiniNumber) return 0;
  if (schema instanceof z.ZodMiniString || schema._zod.values?.has('')) return '';
  if (schema instanceof z.ZodMiniNullable) return null;
  return schema instanceof z.ZodMiniArray ? [] : undefined;
}
