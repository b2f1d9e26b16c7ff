/**
 * Parts that a page draws by itself, although their code is fetched after it: the chart of visits. They have one file,
 * so that the page does not bring what is opened later.
 */
const DRAWN_AT_ONCE = /\/(?:traffic-card|recent-traffic)\.tsx$/;
/** Of these pages so little is opened that a file of its own would be one request more for every dialog. */
const LITTLE_OPENED = new Set(['post-hack-actions', 'security-dashboard']);
const IN_PAGE = /\/src\/pages\/([a-z-]+)\//;

/**
 * Decides which file a module goes to. Each file is compressed alone, so many small ones cost more than they hold:
 *
 * - `base`: what the entry or at least two pages need;
 * - a file for each page: what only this page needs;
 * - `<page>-parts`: what this page needs only when something is opened, a dialog or another tab;
 * - `parts`: what is opened on several pages, and what is little;
 * - `traffic`: the chart of visits.
 *
 * @param {string} entry path of the entry's module
 * @returns for `codeSplitting.groups[].name` of Rolldown
 */
export function chunkNames(entry) {
  let roots = null;

  return (id, context) => {
    roots ??= findRoots(entry, context);
    const needed = roots.get(id);
    // Unknown is what Rolldown adds itself.
    if (needed === undefined || needed.has(entry)) return 'base';
    const slugs = new Set([...needed].map((root) => IN_PAGE.exec(root)?.[1]));
    const [slug] = slugs;
    const kinds = new Set([...needed].map(kindOf));
    const isShared = slugs.size > 1 || slug === undefined;
    if (!kinds.has('page') && !kinds.has('drawn'))
      return isShared || LITTLE_OPENED.has(slug) ? 'parts' : `${slug}-parts`;
    if (!kinds.has('page') && !kinds.has('opened')) return 'traffic';
    return isShared ? 'base' : `${slug}-page`;
  };
}

/** The slug of the page that a module starts, `src/pages/<slug>/<slug>-page.tsx`; undefined for every other module. */
export function pageSlug(id) {
  return /\/src\/pages\/([a-z-]+)\/\1-page\.tsx$/.exec(id)?.[1];
}

/** Whether a module that is fetched by itself is a page, is drawn with one, or belongs to something that is opened. */
function kindOf(root) {
  if (pageSlug(root) !== undefined) return 'page';
  return DRAWN_AT_ONCE.test(root) ? 'drawn' : 'opened';
}

/** For each module the entry and the dynamically imported modules that need it at once, directly or not. */
function findRoots(entry, context) {
  const found = new Map();
  const todo = [entry];
  const seen = new Set(todo);
  for (let root = todo.pop(); root !== undefined; root = todo.pop()) {
    const stack = [root];
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      const roots = found.get(id) ?? new Set();
      if (roots.has(root)) continue;
      found.set(id, roots.add(root));
      const info = context.getModuleInfo(id);
      stack.push(...(info?.importedIds ?? []));
      for (const next of info?.dynamicallyImportedIds ?? []) {
        if (!seen.has(next)) todo.push(next);
        seen.add(next);
      }
    }
  }
  return found;
}
