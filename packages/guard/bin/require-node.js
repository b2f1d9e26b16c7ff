// Syntax that old releases of Node read as well, so that they get this message and no syntax error.
const NEEDED = [20, 19];

/**
 * Prints what is needed when this Node is too old, and sets the exit code. Whatever needs a newer Node may be loaded only
 * when this has returned true.
 *
 * @returns whether this Node is new enough
 */
export function hasNeededNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return true;
  process.stderr.write(
    `Security Optimizer needs Node ${NEEDED.join('.')} or newer; this is ${process.versions.node}. ` +
      'Get a current one from https://nodejs.org/. The Debian package needs none: it includes its own.\n',
  );
  process.exitCode = 1;
  return false;
}
