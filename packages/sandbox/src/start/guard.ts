import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type AttachOptions, attach } from '@security-optimizer/guard/cli/attach';
import { createLogger } from '@security-optimizer/guard/lib/logger';
import { loadConfig } from '@security-optimizer/guard/load-config';
import { type RunningGuard, startGuard } from '@security-optimizer/guard/main';

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
