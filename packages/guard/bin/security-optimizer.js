#!/usr/bin/env node
// npm links this file when it installs, which is before anything is built.
import { existsSync } from 'node:fs';
import { hasNeededNode } from './require-node.js';

const command = new URL('../dist/program/security-optimizer.js', import.meta.url);
if (!existsSync(command)) {
  process.stderr.write('Security Optimizer is not built yet. Run: npm run build\n');
  process.exitCode = 1;
} else if (hasNeededNode()) {
  await import(command.href);
}
