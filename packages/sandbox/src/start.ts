#!/usr/bin/env node
import { start } from './start/main.js';

process.exit(await start(process.argv.slice(2)));
