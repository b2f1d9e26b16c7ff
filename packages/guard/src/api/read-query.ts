/** Parameters of a query by their names; those of a list or an object stand in an object of their own. */
export interface Query {
  [name: string]: string | Query;
}

/** A name has at most so many brackets; those of filters have six. */
const DEEPEST = 8;
const NAME = /^([^[]+)((?:\[[^[\]]*\])+)$/;

/**
 * Reads a query as PHP reads it: `filters[0][wp_name]=ip` is a member of a member, `a[]` the next of a list, and of
 * equal names the last one counts. No name means anything to the language: the objects have no prototype.
 */
export function readQuery(query: string): Query {
  const read = empty();
  for (const [name, value] of new URLSearchParams(query)) put(read, pathOf(name), value);
  return read;
}

function pathOf(name: string): readonly string[] {
  const [, first, brackets] = NAME.exec(name) ?? [];
  if (first === undefined || brackets === undefined) return [name];
  const members = brackets.slice(1, -1).split('][');
  return members.length > DEEPEST ? [name] : [first, ...members];
}

function put(read: Query, path: readonly string[], value: string): void {
  let parent = read;
  for (const name of path.slice(0, -1)) parent = memberOf(parent, name || nextOf(parent));
  parent[path.at(-1) || nextOf(parent)] = value;
}

function memberOf(parent: Query, name: string): Query {
  const known = parent[name];
  if (typeof known === 'object') return known;
  const member = empty();
  parent[name] = member;
  return member;
}

/** The name that `[]` stands for. */
function nextOf(list: Query): string {
  let next = Object.keys(list).length;
  while (next in list) next++;
  return String(next);
}

function empty(): Query {
  return Object.create(null) as Query;
}
