import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type AttachOptions,
  attach,
  createLogger,
  loadConfig,
  type RunningGuard,
  startGuard,
} from '@security-optimizer/guard/embedded';

/**
 * Connects a WordPress with guard the way `security-optimizer attach` does, then serves it as `serve` does.
 * Guard's log goes to a file, so that the terminal shows what its reader needs.
 */
export async function startGuardFor(options: AttachOptions & { readonly logFile: string }): Promise<RunningGuard> {
  const { logFile, ...attachOptions } = options;
  await attach(attachOptions);
  const config = await loadConfig({ dataDir: options.dataDir });
  mkdirSync(dirname(logFile), { recursive: true });
  return startGuard(config, { logger: createLogger(config.logLevel, createWriteStream(logFile, { flags: 'a' })) });
}
