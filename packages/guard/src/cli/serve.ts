import { resolve } from 'node:path';
import { keepHeapsLean } from '../lib/lean-heap.js';
import { createLogger, type Logger } from '../lib/logger.js';
import { loadConfig } from '../load-config.js';
import { openStorage } from '../storage/open-storage.js';
import type { Command } from './command.js';
import { UsageError } from './command.js';
import { readOptions } from './options.js';

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run guard until it is told to stop.',
  help: `security-optimizer serve --data-dir DIR | --config FILE

  --data-dir DIR   guard's data folder, with guard.json in it
  --config FILE    another configuration file; its folder is the data folder unless --data-dir names one

Writes its log to standard error, one JSON object per line. SIGTERM or SIGINT: finish running requests and stop;
a second one: stop at once.`,
  async run(args) {
    const values = readOptions(args, { 'data-dir': { type: 'string' }, config: { type: 'string' } });
    if (values['data-dir'] === undefined && values.config === undefined) {
      throw new UsageError('The option --data-dir or --config is missing.');
    }
    keepHeapsLean();
    const config = await loadConfig({
      dataDir: values['data-dir'] === undefined ? undefined : resolve(values['data-dir']),
      file: values.config,
    });
    const logger = createLogger(config.logLevel);
    const told = stopSignal(logger);
    endOnFault(logger);
    const storage = await openStorage(config, logger);
    // While its thread is at work: what serves is nine tenths of guard, and takes as long to load.
    const { startGuard } = await import('../main.js');
    const guard = await startGuard(config, { logger, storage });
    const signal = await told;
    logger.info({ event: 'guard-stopping', signal }, 'Guard finishes running requests and stops.');
    await guard.close();
    logger.info({ event: 'guard-stopped' }, 'Guard stopped.');
    logger.flush();
    return 0;
  },
};

/** Resolves with the first signal to stop. The second one ends the process at once. */
function stopSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolveSignal) => {
    let told = false;
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (told) {
          logger.flush();
          process.exit(1);
        }
        told = true;
        resolveSignal(name);
      });
    }
  });
}

/** After a fault that nobody caught the state is unknown: say what happened and let the supervisor start anew. */
function endOnFault(logger: Logger): void {
  const end = (error: unknown) => {
    logger.fatal({ event: 'guard-crashed', err: error }, 'Guard ends because of a fault.');
    logger.flush();
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
