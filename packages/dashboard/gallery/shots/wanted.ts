import { type Group, isAlone, isPage, LOOKS, type LookName } from '../example.js';
import { groups } from '../groups/index.js';

/** What is shown at once on the stage, and the examples that pictures are kept of. */
export interface Showing {
  readonly look: LookName;
  /** Of a group or of an example. */
  readonly show: string;
  readonly examples: readonly string[];
}

/** The width at which sheets are looked at; and the look that turns each of them round. */
const SHEET_LOOKS: readonly LookName[] = ['middle', 'rtl'];

/** Every showing: sheets with the parts that may stand together, and each page or dialog by itself. */
export function wantedShowings(): readonly Showing[] {
  return groups.flatMap((group) => [...sheets(group), ...alone(group)]);
}

function sheets(group: Group): Showing[] {
  const examples = group.examples.filter((example) => !isAlone(example)).map(({ id }) => id);
  return examples.length === 0 ? [] : SHEET_LOOKS.map((look) => ({ look, show: group.id, examples }));
}

function alone(group: Group): Showing[] {
  return group.examples.filter(isAlone).flatMap((example) => {
    const looks: readonly LookName[] = isPage(example) ? ['wide', ...(example.looks ?? [])] : ['middle'];
    return looks.map((look) => ({ look, show: example.id, examples: [example.id] }));
  });
}

/** Name of a picture, without its ending. */
export function pictureName(example: string, look: LookName): string {
  return `${example}.${look}`;
}

/** Address of the stage in a look. */
export function stageAddress(origin: string, look: LookName): string {
  const { dir, language } = LOOKS[look];
  return `${origin}stage.html?pictures&dir=${dir}&language=${language}`;
}
