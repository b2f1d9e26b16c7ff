import * as z from 'zod/mini';

/** A list with gaps, as PHP encodes it: an object with numeric keys. */
function filterValues<Item extends z.ZodMiniType>(item: Item) {
  return z.pipe(
    z.record(z.string(), item),
    z.transform((items) => Object.values(items)),
  );
}

/** Filters in the server's format: a list, or an object with numeric keys. Other fields are ignored. */
const sentChild = z.looseObject({
  id: z.nullish(z.string()),
  value: z.optional(z.unknown()),
  selectedValue: z.optional(z.unknown()),
});
const sentFilter = z.looseObject({
  wp_name: z.string(),
  children: z.nullish(z.union([z.array(sentChild), filterValues(sentChild)])),
});
const filterList = z.union([z.array(sentFilter), filterValues(sentFilter)], {
  error: 'Send the filters of the last answer.',
});
/** In a query (GET) the filters are JSON text. */
const filterText = z.pipe(
  z.string(),
  z.transform((text, context): unknown => {
    try {
      return text === '' ? [] : JSON.parse(text);
    } catch {
      context.issues.push({ code: 'custom', message: 'Send the filters of the last answer as JSON.', input: text });
      return z.NEVER;
    }
  }),
);
export const sentFilters = z.nullish(
  z.union([z.pipe(filterText, filterList), filterList], { error: 'Send the filters of the last answer.' }),
);
export type SentFilters = z.output<typeof sentFilters>;
