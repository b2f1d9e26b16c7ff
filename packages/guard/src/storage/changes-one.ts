import type { UpdateResult } from 'kysely';

/** Runs a conditional update. @returns whether its conditions held: of many callers at once only one gets true */
export async function changesOne(update: { executeTakeFirst(): Promise<UpdateResult | undefined> }): Promise<boolean> {
  return (await update.executeTakeFirst())?.numUpdatedRows === 1n;
}
