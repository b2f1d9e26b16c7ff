#!/usr/bin/env node
// A copy of packages/guard/bin/require-node.js: see scripts/lib/package/npm-package.mjs.
import { hasNeededNode } from './require-node.js';

if (hasNeededNode()) await import('@security-optimizer/guard/program/security-optimizer');
