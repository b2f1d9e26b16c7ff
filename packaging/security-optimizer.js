#!/usr/bin/env node
// Syntax that old releases of Node read as well, so that they get this message and no syntax error.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`Security Optimizer needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  await import('@security-optimizer/guard/program/security-optimizer');
}
