/**
 * Lazy parts that a page draws at once: the chart of visits. They have their own chunk, so that the page does not
 * load parts that are opened later.
 */
const DRAWN_WITH_PAGE = /\/traffic-chart\.tsx$/;
/** Lazy parts that are drawn once the browser is idle, after the chart: they share its chunk. */
const DRAWN_WHEN_IDLE = /\/recent-section\.tsx$/;
/** Features with few lazy parts: a separate chunk would only cost another request. */
const FEW_LAZY_PARTS = new Set(['consent', 'post-hack-actions', 'security-dashboard']);
/** Pages with common modules that no other page needs at once: rows of settings, with their controls. */
const SETTINGS_PAGES = new Set(['site-security', 'login-settings']);
/** Its own modules are too few for a chunk: they are added to that of the settings. */
const SMALL_PAGE = 'site-security';
const FEATURE = /\/src\/features\/([a-z-]+)\//;

/**
 * Assigns modules to chunks. Each chunk is compressed separately, so many small ones cost more than they save:
 *
 * - `base`: needed by the entry or by two or more pages;
 * - `settings`: needed by the pages of settings, and by no other page before something is opened; contains all of
 *   Site Security;
 * - `<page>-page`: needed only by this page; the log's contains its tables, which the Security Dashboard draws
 *   later;
 * - `<page>-parts`: needed only by the dialogs and tabs of this page;
 * - `parts`: lazy parts of several pages, and small ones;
 * - `traffic`: the chart of visits, and Recent Activity, which follows it on the Security Dashboard.
 *
 * @param {string} entry path of the entry's module
 * @returns function for `codeSplitting.groups[].name` of Rolldown
 */
export function chunkNames(entry) {
  let roots = null;

  return (id, context) => {
    roots ??= findRoots(entry, context);
    const needed = roots.get(id);
    // Rolldown adds modules that are unknown here.
    if (needed === undefined || needed.has(entry)) return 'base';
    const slugs = new Set([...needed].map((root) => FEATURE.exec(root)?.[1]));
    const [slug] = slugs;
    const kinds = new Set([...needed].map(getKind));
    const isShared = slugs.size > 1 || slug === undefined;
    if ([...needed].every((root) => DRAWN_WHEN_IDLE.test(root))) return 'traffic';
    if (!kinds.has('page') && !kinds.has('drawn'))
      return isShared || FEW_LAZY_PARTS.has(slug) ? 'parts' : `${slug}-parts`;
    if (!kinds.has('page') && !kinds.has('opened')) return 'traffic';
    if (!isShared) return slug === SMALL_PAGE ? 'settings' : `${slug}-page`;
    const pages = [...needed].filter((root) => getKind(root) !== 'opened').map((root) => FEATURE.exec(root)?.[1]);
    if (pages.every((page) => page === 'activity-log')) return 'activity-log-page';
    return pages.every((page) => SETTINGS_PAGES.has(page)) ? 'settings' : 'base';
  };
}

/** The slug of a page's main module, `src/features/<slug>/<slug>-page.tsx`; undefined for every other module. */
export function pageSlug(id) {
  return /\/src\/features\/([a-z-]+)\/\1-page\.tsx$/.exec(id)?.[1];
}

/** Whether a lazily loaded module is a page, is drawn with a page, or is opened later. */
function getKind(root) {
  if (pageSlug(root) !== undefined) return 'page';
  return DRAWN_WITH_PAGE.test(root) ? 'drawn' : 'opened';
}

/** For each module, the entry and the dynamically imported modules that import it statically, directly or not. */
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
