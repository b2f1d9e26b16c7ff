import { parse } from 'acorn';
import { minify } from 'vite';

// Removes the parts of React's production build that the dashboard does not use. Each of React's packages is one file,
// and a bundler keeps all of it. This file states facts about the dashboard; the code that depends on them is removed
// automatically. See docs/decisions/0026-parts-of-react.md.

/** Exports that are kept, by file. The build fails if another one is used (`findRefusedParts`). */
const EXPORTS = {
  react: new Set([
    ...['Component', 'Fragment', 'createContext', 'createElement', 'version'],
    ...['useCallback', 'useContext', 'useEffect', 'useId', 'useLayoutEffect', 'useMemo', 'useReducer', 'useRef'],
    ...['useState', 'useSyncExternalStore'],
    '__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE',
  ]),
  'react-dom': new Set([
    ...['createPortal', 'flushSync', 'version'],
    '__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE',
  ]),
  'react-dom-client': new Set(['createRoot', 'version']),
};

/** Elements that the dashboard does not draw: it has its own drop-downs, and its fields have one line. */
const UNUSED_ELEMENTS = ['select', 'option', 'textarea'];

/**
 * Numbers and strings that a variable or property never has. A comparison with one of them has a fixed result, and the
 * case of a switch is removed.
 */
const UNUSED_LITERALS = new Map([
  ['type', new Set(UNUSED_ELEMENTS)],
  ['key', new Set(['dangerouslySetInnerHTML'])],
  // Kinds of fibers (ReactWorkTags): of element types that are not exported, of Suspense, Activity and hydration, and
  // of elements in the document's head. In other functions `tag` is the name of an element.
  ...['tag', 'grandTag'].map((name) => [
    name,
    new Set([11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 27, 28, 30, 31, ...UNUSED_ELEMENTS]),
  ]),
  // Why rendering is suspended: all reasons but 0 (it is not), 1 (an error) and 6 (a promise was thrown).
  ['workInProgressSuspendedReason', new Set([2, 3, 4, 5, 7, 8, 9])],
]);

/** Constants that no value ever equals: types of elements that are not created, exceptions that are not thrown. */
const UNUSED_VALUES = new Set([
  ...[
    'ACTIVITY',
    'SUSPENSE',
    'SUSPENSE_LIST',
    'PROFILER',
    'LEGACY_HIDDEN',
    'VIEW_TRANSITION',
    'FORWARD_REF',
    'MEMO',
  ].map((name) => `REACT_${name}_TYPE`),
  ...['LAZY', 'STRICT_MODE', 'CONSUMER'].map((name) => `REACT_${name}_TYPE`),
  ...['Suspense', 'SuspenseAction', 'SuspenseyCommit', 'SelectiveHydration'].map((name) => `${name}Exception`),
]);

/** Variables that never change, and their values. */
const CONSTANTS = new Map([
  // Hydration.
  ['isHydrating', 'false'],
  ['rootOrSingletonContext', 'false'],
  ['hydrationParentFiber', 'null'],
  ['nextHydratableInstance', 'null'],
  ['hydrationErrors', 'null'],
  // Suspense and hidden trees.
  ['shellBoundary', 'null'],
  ['offscreenSubtreeIsHidden', 'false'],
  ['offscreenSubtreeWasHidden', 'false'],
  ['offscreenDirectParentIsHidden', 'false'],
  // View transitions.
  ['shouldStartViewTransition', 'false'],
  ['inUpdateViewTransition', 'false'],
  ['rootViewTransitionAffected', 'false'],
  ['viewTransitionMutationContext', 'false'],
  ['viewTransitionContextChanged', 'false'],
  ['pendingViewTransition', 'null'],
  ['pendingViewTransitionEvents', 'null'],
  ['pendingTransitionTypes', 'null'],
  ['appearingViewTransitions', 'null'],
  // Transitions.
  ['currentEntangledLane', '0'],
  ['currentEntangledPendingCount', '0'],
  ['currentEntangledListeners', 'null'],
  ['currentEntangledActionThenable', 'null'],
  // Events of input methods (`onBeforeInput`, `onCompositionStart`); `onChange` does not need them.
  ['canUseCompositionEvent', 'false'],
  ['canUseTextInputEvent', 'false'],
  ['useFallbackCompositionData', 'false'],
  ['isComposing', 'false'],
  // Developer tools.
  ['injectedHook', 'null'],
]);

/** Properties that never change; a name that starts with a dot applies to any object. */
const CONSTANT_PROPERTIES = new Map([
  ['.isDehydrated', 'false'],
  ['ReactSharedInternals.T', 'null'],
  ['suspenseHandlerStackCursor.current', 'null'],
  ['currentTreeHiddenStackCursor.current', 'null'],
]);

/**
 * Sets of lanes (priorities) that are never used: transitions, retries, and both. `(lanes & set) === lanes` is false.
 */
const UNUSED_LANES = new Set([4194048, 62914560, 335544064]);

/** Functions that are called without any effect, and their new bodies. */
const IDLE = new Map([
  ['queueIfContinuousEvent', 'return false'],
  ['clearIfContinuousEvent', ''],
  ['retryIfBlockedOn', ''],
  ['popHydrationState', 'return false'],
  ['isHostHoistableType', 'return false'],
  ['preloadInstanceAndSuspendIfNeeded', ''],
  ['isFragmentInstanceParent', 'return false'],
  ['commitNewChildToFragmentInstances', ''],
  ['commitFragmentInstanceInsertionEffects', ''],
  ['commitFragmentInstanceDeletionEffects', ''],
  // Form actions (`action={function}`).
  ['extractEvents$1', ''],
  // Events of input methods.
  ['getFallbackBeforeInputChars', 'return null'],
  // Names of components in error messages; the names are minified anyway.
  ['getStackByFiberInDevAndProd', 'return ""'],
]);

/** Functions that are never reached, although the code does not show it; they throw. */
const UNREACHED = new Set([
  ...['FragmentInstance', 'accumulateSuspenseyCommitOnFiber', 'waitForCommitToBeReady', 'onUnsuspend'],
  ...['startHostTransition', 'TransitionAwareHostComponent', 'unwrapThenable'],
  'defaultOnDefaultTransitionIndicator',
]);

/** Assignments at the top of the file that are removed. */
const UNUSED_ASSIGNMENTS = [
  'FragmentInstance.prototype.',
  'ReactDOMHydrationRoot.prototype.unstable_scheduleHydration',
  'ReactDOMSharedInternals.findDOMNode',
  'ReactSharedInternals.S',
];

/**
 * Exports that modules import by name, by package. React's packages are CommonJS: without a module in between, a bundler
 * turns each use of an import into a lookup, `(0, react.useState)(…)`.
 */
export const NAMED_EXPORTS = new Map([
  ['react', [...EXPORTS.react]],
  ['react/jsx-runtime', ['Fragment', 'jsx', 'jsxs']],
]);
/** Elements, properties and events that are not part of the build. */
const UNUSED_JSX = new RegExp(
  `<(?:${UNUSED_ELEMENTS.join('|')})[\\s/>]|\\b(?:dangerouslySetInnerHTML|onBeforeInput|onComposition\\w+)\\b`,
);
/** Prefix of the modules with these exports, which are not files. */
const NAMED = '\0named:';

/** Vite plugin that removes the unused parts of React, and exports the others by name. */
export function reactParts() {
  return {
    name: 'security-optimizer-react-parts',
    enforce: 'pre',
    resolveId(source, importer = '') {
      const isInner = importer.startsWith(NAMED) || /\/node_modules\/(?:react|react-dom)\//.test(importer);
      return NAMED_EXPORTS.has(source) && !isInner ? NAMED + source : null;
    },
    load(id) {
      const source = id.startsWith(NAMED) ? id.slice(NAMED.length) : null;
      if (source === null) return null;
      return `import all from '${source}';\nexport const { ${NAMED_EXPORTS.get(source).join(', ')} } = all;`;
    },
    async transform(code, id) {
      const file = /\/node_modules\/react(?:-dom)?\/cjs\/(react(?:-dom(?:-client)?)?)\.production\.js$/.exec(id)?.[1];
      if (file !== undefined) return { code: await keepUsedParts(code, file), map: null };
      const refused = /\.[jt]sx?(?:\?|$)/.test(id) && !/\/node_modules\/react/.test(id) ? findRefusedParts(code) : [];
      if (refused.length === 0) return null;
      throw new Error(`${id} uses ${refused.join(', ')} of React, which build/react-parts.mjs leaves out.`);
    },
  };
}

/**
 * Names that a module imports from React, and elements, properties and events that it uses, that are not part of the
 * build.
 *
 * @param {string} source JavaScript or TypeScript
 * @returns {string[]}
 */
export function findRefusedParts(source) {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '');
  const statement =
    /\b(?:import|export)\s+(?!type\b)([\w$*\s,{}]+?)\s+from\s*['"](react|react-dom|react-dom\/client)['"]/g;
  const [unused = null] = UNUSED_JSX.exec(code) ?? [];
  const imports = [...code.matchAll(statement)].flatMap(([, names, from]) => {
    const exported = EXPORTS[from.replace('/', '-')];
    const space = /^\*\s*as\s+([\w$]+)$/.exec(names)?.[1];
    const listed = /^\{([^}]*)\}$/.exec(names)?.[1];
    if (space === undefined && listed === undefined) return [names];
    const used =
      space === undefined
        ? listed.split(',').map((name) => name.trim().split(/\s+as\s+/)[0])
        : [...code.matchAll(new RegExp(`\\b${space.replaceAll('$', '\\$')}\\.([\\w$]+)`, 'g'))].map(([, name]) => name);
    return used.filter((name) => name !== '' && !/^type\s/.test(name) && !exported.has(name));
  });
  return unused === null ? imports : [...imports, unused.trim()];
}

/**
 * Removes the unused parts of a file of React's production build.
 *
 * @param {string} code
 * @param {'react' | 'react-dom' | 'react-dom-client'} file
 * @returns {Promise<string>}
 * @throws {Error} if one of the names above is no longer in the file, because React has changed
 */
export async function keepUsedParts(code, file) {
  let used = settleFacts(code, file);
  // Unreachable code is found once conditions have a fixed result, and may fix others.
  for (let round = 0; round < 3; round++) {
    const { code: decided } = await minify('react.js', used, {
      compress: { sequences: false, joinVars: false },
      mangle: false,
      codegen: { removeWhitespace: false },
    });
    used = removeUnreached(decided);
  }
  return used;
}

/** Applies the facts above to the code. */
function settleFacts(code, file) {
  const edits = [];
  const functions = [];
  const found = new Set();
  const text = ({ start, end }) => code.slice(start, end);
  const replace = ({ start, end }, by) => edits.push({ start, end, by });
  const remove = ({ start, end }) => edits.push({ start, end: code[end] === ',' ? end + 1 : end, by: '' });

  /** Closure's compiler marks names of inner functions (`tag$jscomp$0`). */
  const lastName = (node) =>
    (node.type === 'Identifier' ? node : (node.property ?? {})).name?.replace(/\$jscomp.*/, '');
  const isNeverEqual = (constant, value) =>
    constant.type === 'Identifier'
      ? UNUSED_VALUES.has(constant.name) && found.add(constant.name)
      : UNUSED_LITERALS.get(lastName(value))?.has(constant.value) === true && found.add(lastName(value));
  const isUnusedLanes = ({ type, operator, left, right }, lanes) =>
    type === 'BinaryExpression' && operator === '&' && UNUSED_LANES.has(right.value) && text(left) === text(lanes);
  const readConstant = (node) => {
    const names =
      { Identifier: [node.name], MemberExpression: [text(node), `.${node.property?.name}`] }[node.type] ?? [];
    const isParameter = functions.some(({ params }) => params.some(({ name }) => name === names[0]));
    const constants = node.type === 'Identifier' ? CONSTANTS : CONSTANT_PROPERTIES;
    const name = node.computed || isParameter ? undefined : names.find((one) => constants.has(one));
    if (name !== undefined) found.add(name);
    return constants.get(name);
  };

  const visitors = {
    BinaryExpression(node) {
      const { operator, left, right } = node;
      const isComparison = operator === '===' || operator === '!==';
      if (!isComparison) return true;
      if (!isNeverEqual(left, right) && !isNeverEqual(right, left) && !isUnusedLanes(left, right)) return true;
      return replace(node, String(operator === '!=='));
    },
    SwitchStatement({ discriminant, cases }) {
      visit(discriminant);
      /** The last case that is kept. */
      let before = null;
      for (const one of cases) {
        const isUnused = one.test !== null && isNeverEqual(one.test, discriminant);
        const isReached = before !== null && !ends(before.consequent.at(-1));
        if (!isUnused || (isReached && one.consequent.length > 0)) {
          if (isUnused) edits.push({ start: one.start, end: one.consequent[0].start, by: '' });
          else if (one.test !== null) visit(one.test);
          one.consequent.forEach(visit);
          before = one;
        } else {
          remove(one);
          declare(findVariables(one));
        }
      }
    },
    AssignmentExpression(node) {
      const value = readConstant(node.left);
      if (value === undefined) return true;
      if (node.operator !== '=') return replace(node, value);
      edits.push({ start: node.start, end: node.right.start, by: '(' }, { start: node.end, end: node.end, by: ')' });
      return visit(node.right);
    },
    UpdateExpression: (node) => readConstant(node.argument) === undefined || replace(node, readConstant(node.argument)),
    Identifier: (node) => readConstant(node) === undefined || replace(node, readConstant(node)),
    MemberExpression(node) {
      if (readConstant(node) !== undefined) return replace(node, readConstant(node));
      visit(node.object);
      if (node.computed) visit(node.property);
    },
    Property: ({ value }) => visit(value),
    LabeledStatement: ({ body }) => visit(body),
    BreakStatement: () => undefined,
    ContinueStatement: () => undefined,
    VariableDeclarator({ id, init }) {
      if (init === null) return;
      // The tables of hooks.
      const unused = id.name.includes('Dispatcher') && init.type === 'ObjectExpression' ? init.properties : [];
      for (const one of unused)
        if (/^use/.test(one.key.name) && !EXPORTS.react.has(one.key.name)) remove(one);
        else visit(one.value);
      if (unused.length === 0) visit(init);
    },
    FunctionDeclaration(node) {
      const { name } = node.id;
      found.add(name);
      if (IDLE.has(name)) return replace(node.body, `{${IDLE.get(name)}}`);
      if (UNREACHED.has(name)) return replace(node.body, '{throw Error("This part of React is left out.")}');
      return visitFunction(node);
    },
    FunctionExpression: visitFunction,
    IfStatement: (node) => !text(node.test).includes('__REACT_DEVTOOLS_GLOBAL_HOOK__') || replace(node, ''),
    ExpressionStatement(node) {
      if (node.expression.type !== 'AssignmentExpression') return true;
      const left = text(node.expression.left);
      const unused = UNUSED_ASSIGNMENTS.find((start) => left.startsWith(start));
      if (unused !== undefined) found.add(unused);
      if (unused !== undefined || (left.startsWith('exports.') && !EXPORTS[file].has(left.slice('exports.'.length))))
        return replace(node, '');
      if (left !== 'ReactDOMSharedInternals.d') return true;
      // Only `flushSync` is used of React DOM's interface for the package `react-dom`.
      return node.expression.right.properties.filter(({ key }) => key.name !== 'f').forEach(remove);
    },
  };

  /** A visitor returns true to visit the children of its node. */
  function visit(node) {
    if (visitors[node.type] === undefined || visitors[node.type](node) === true) parts(node).forEach(visit);
  }
  function visitFunction(node) {
    functions.push(node);
    visit(node.body);
    functions.pop();
  }
  /** Keeps variables that are declared in a removed case, because others may use them. */
  function declare(names) {
    if (names.length === 0) return;
    const at = functions.at(-1).body.start + 1;
    edits.push({ start: at, end: at, by: `var ${names.join(',')};` });
  }

  parse(code, { ecmaVersion: 'latest', sourceType: 'script' }).body.forEach(visit);
  if (file === 'react-dom-client') checkNames(found);
  return applyEdits(code, edits);
}

function checkNames(found) {
  const names = [UNUSED_LITERALS, UNUSED_VALUES, CONSTANTS, CONSTANT_PROPERTIES, IDLE, UNREACHED].flatMap((list) => [
    ...list.keys(),
  ]);
  const missing = [...names, ...UNUSED_ASSIGNMENTS].filter((name) => !found.has(name));
  if (missing.length > 0)
    throw new Error(`React has changed: ${missing.join(', ')} not found. Check build/react-parts.mjs against it.`);
}

/** Whether the code after a statement is unreachable from it. */
function ends(statement) {
  if (statement === undefined) return false;
  const { type, body, consequent, alternate } = statement;
  if (type === 'BlockStatement') return ends(body.at(-1));
  if (type === 'IfStatement') return alternate !== null && ends(consequent) && ends(alternate);
  return ['BreakStatement', 'ReturnStatement', 'ThrowStatement', 'ContinueStatement'].includes(type);
}

/** The variables that a node declares in its function. */
function findVariables(node) {
  if (node.type.includes('Function')) return [];
  return [...(node.type === 'VariableDeclarator' ? [node.id.name] : []), ...parts(node).flatMap(findVariables)];
}

/** Removes functions that the statements at the top do not reach. */
function removeUnreached(code) {
  const { body } = parse(code, { ecmaVersion: 'latest', sourceType: 'script' });
  const waiting = new Map(
    body.filter(({ type }) => type === 'FunctionDeclaration').map((node) => [node.id.name, node]),
  );
  const reached = body.filter(({ type }) => type !== 'FunctionDeclaration');
  const visit = (node) => {
    if (node.type === 'Identifier' && waiting.has(node.name)) {
      reached.push(waiting.get(node.name));
      waiting.delete(node.name);
    }
    parts(node).forEach(visit);
  };
  // The list grows during the loop.
  for (const node of reached) visit(node);
  return applyEdits(
    code,
    [...waiting.values()].map(({ start, end }) => ({ start, end, by: '' })),
  );
}

/** Returns the children of a node. */
function parts(node) {
  return Object.values(node)
    .flat()
    .filter((part) => typeof part?.type === 'string');
}

function applyEdits(code, edits) {
  const ordered = [...edits].sort((a, b) => a.start - b.start || a.end - b.end);
  let done = 0;
  let result = '';
  for (const { start, end, by } of ordered) {
    result += code.slice(done, start) + by;
    done = end;
  }
  return result + code.slice(done);
}
