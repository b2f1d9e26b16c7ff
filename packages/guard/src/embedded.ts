/** The interface for programs that embed guard, as exported by the bundle: see `exports` in package.json. */
export { type AttachOptions, attach } from './cli/attach.js';
export { loadConfig } from './config/load-config.js';
export { createLogger } from './lib/logger.js';
export { type RunningGuard, startGuard } from './main.js';
