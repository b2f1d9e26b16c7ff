const needed = [20, 19];

/** Ends the program with a clear message when Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return;
  process.stderr.write(
    `Security Optimizer needs Node ${needed.join('.')} or newer; this is ${process.versions.node}. ` +
      'Get a current one from https://nodejs.org/.\n',
  );
  process.exit(1);
}
