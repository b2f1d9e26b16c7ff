/** From a table of layers to the entries of Biome's `overrides` that enforce it. */

/**
 * @typedef {object} Layer
 * @property {string} name folder, or file with its ending, below the package's sources
 * @property {readonly string[]} imports layers above this one that it may import; `*` means all of them
 * @property {boolean} [isFeature] others import its `index.ts` only
 * @property {string} [why] added to the message of the linter
 */

/** Added to the files of an entry that does not apply to tests. */
export const EXCEPT_TESTS = ['!**/*.test.ts', '!**/*.test.tsx'];

/** Modules of the contract may be called like a layer. */
export const NEVER_REFUSED = '!@security-optimizer/contract/**';

/** Pattern of a layer's files, or of some of them. */
export function toFilePattern(src, name, files = '**') {
  return isFile(name) ? `${src}/${name}` : `${src}/${name}/${files}`;
}

/** Entry of Biome's `overrides`. For a file that several entries include, only the last one applies. */
export function toOverride(includes, patterns) {
  const noRestrictedImports = { level: 'error', options: { patterns } };
  return { includes, linter: { rules: { style: { noRestrictedImports } } } };
}

/** The linter's message where a layer imports one that it must not import. */
export function toMessage({ name, why }, table) {
  return [`${name} must not import this, see ${table}.`, why].filter(Boolean).join(' ');
}

/**
 * Patterns of the layers that a layer refuses, in the order in which they apply.
 *
 * @param {readonly Layer[]} layers
 * @param {Layer} layer
 * @param {readonly string[]} inside features of which this layer may import every file
 */
export function toRefusedPatterns(layers, { name, imports }, inside = []) {
  const own = layers.findIndex((layer) => layer.name === name);
  return layers.flatMap((other, at) => {
    if (at === own) return [];
    const all = isFile(other.name) ? toFile(other.name, name) : toFolder(other.name, name);
    if (!imports.includes(other.name) && !(imports.includes('*') && at < own)) return all;
    return other.isFeature && !inside.includes(other.name) ? [...all, `!**/${other.name}/index.js`] : [];
  });
}

/** How files of a layer, and of the folders in it, name a file at the top. */
function toFile(file, from) {
  const module = `${file.slice(0, -3)}.js`;
  if (isFile(from)) return [`./${module}`];
  const top = '../'.repeat(from.split('/').length);
  return [`${top}${module}`, `${top}../${module}`];
}

/** How they name another folder: in `features/`, the folders beside it need no more than `..` for their parent. */
function toFolder(folder, from) {
  const [parent, child] = folder.split('/');
  const isBeside = child !== undefined && from.startsWith(`${parent}/`);
  return [`**/${folder}/**`, ...(isBeside ? [`**/../${child}/**`] : [])];
}

function isFile(name) {
  return name.endsWith('.ts');
}
