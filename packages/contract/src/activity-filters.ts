import { z } from 'zod';

/** Filters as the server sent them, as a list or as PHP writes a list with gaps; only what is needed is looked at. */
const sentChild = z.looseObject({
  id: z.string().nullish(),
  value: z.unknown().optional(),
  selectedValue: z.unknown().optional(),
});
const sentFilter = z.looseObject({
  wp_name: z.string(),
  children: z
    .union([z.array(sentChild), z.record(z.string(), sentChild).transform((children) => Object.values(children))])
    .nullish(),
});
const filterList = z.union(
  [z.array(sentFilter), z.record(z.string(), sentFilter).transform((filters) => Object.values(filters))],
  { error: 'Send the filters of the last answer.' },
);
/** In a query (GET) the same stands as JSON text. */
const filterText = z.string().transform((text, context): unknown => {
  try {
    return text === '' ? [] : JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'Send the filters of the last answer as JSON.' });
    return z.NEVER;
  }
});
export const sentFilters = z
  .union([filterText.pipe(filterList), filterList], { error: 'Send the filters of the last answer.' })
  .nullish();
export type SentFilters = z.output<typeof sentFilters>;
