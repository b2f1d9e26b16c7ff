import { readFileSync } from 'node:fs';
import { startWasmServer, type WasmServerSettings } from './server.js';

// The program of the server process; its one argument names a file with its settings.
startWasmServer(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as WasmServerSettings);
