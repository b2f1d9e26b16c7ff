import { resolve } from 'node:path';
import { preloadBlocks } from '../activity/blocklist/preload-blocklist.js';
import type { Config } from '../config/config.js';
import { ConfigError, type ConfigSource, configWrittenAt, listEnvironment, loadConfig } from '../config/load-config.js';
import { type ChangedConfig, loadConfigInThread } from '../config/load-config-in-thread.js';
import { DigestCache } from '../config/site-digests.js';
import { createLogger, type Logger, type LogLevel } from '../lib/logger.js';
import { collectStartGarbage, letThreadsLimitThemselves, limitHeapGrowth } from '../lib/process-tuning.js';
import { ShutdownDeadline } from '../lib/shutdown-deadline.js';
import { createServiceState, takeActivationSocket } from '../lib/supervisor.js';
import type { RunningGuard } from '../main.js';
import type { AppliedConfiguration, DataDirLock } from '../storage/data-dir-lock.js';
import { openStorage, sitesInUse } from '../storage/open-storage.js';
import { type Command, readOptions, UsageError } from './command.js';

/**
 * How long guard's shutdown may take after its last request, seconds. Less than MARGIN_SECONDS and the unit's stop
 * timeout.
 */
const CLEANUP_SECONDS = 5;

/** How long a starting guard waits for another one's shutdown after its last request, seconds. */
const MARGIN_SECONDS = 10;

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run guard until it receives a signal to stop.',
  help: `security-optimizer serve --data-dir DIR | --config FILE

  --data-dir DIR   guard's data folder, with guard.json in it
  --config FILE    another configuration file; its folder is the data folder unless --data-dir names one
  --wait SECONDS   how long to wait for another guard on the data folder to end; 0 when left out

Writes its log to standard error, one JSON object per line. SIGHUP: read the sites, the trusted proxies and the log level of
the configuration file again, and use them. SIGUSR2: log everything (debug) until the next one. SIGTERM or SIGINT: finish
running requests and stop, with exit code 1 if that takes more than ${CLEANUP_SECONDS} seconds beyond the limits of the
configuration; a second one: stop at once. A socket that systemd passes (LISTEN_FDS) is listened on in place of the
configured address; then guard waits for another one as long as that one may take to stop, unless --wait says otherwise.`,
  async run(args) {
    const values = readOptions(args, {
      'data-dir': { type: 'string' },
      config: { type: 'string' },
      wait: { type: 'string' },
    });
    if (values['data-dir'] === undefined && values.config === undefined) {
      throw new UsageError('The option --data-dir or --config is missing.');
    }
    const waitSeconds = values.wait === undefined ? undefined : readSeconds(values.wait);
    const descriptor = takeActivationSocket(process.env, process.pid);
    limitHeapGrowth();
    letThreadsLimitThemselves();
    const source = {
      dataDir: values['data-dir'] === undefined ? undefined : resolve(values['data-dir']),
      file: values.config,
    };
    const readAt = String(process.hrtime.bigint());
    const writtenAt = await configWrittenAt(source);
    const config = await loadConfig(source);
    const environment = listEnvironment(process.env);
    const logger = createLogger(config.logLevel);
    let running: RunningGuard | null = null;
    const stopped = stopSignal(logger);
    const reloading = reloadSignal();
    endOnFault(logger);
    const logLevel = controlLogLevel(logger, (level) => running?.setLogLevel(level));
    const notifySupervisor = createServiceState(process.env, logger);
    const socket = descriptor === null ? undefined : { descriptor };
    const { shutdownSeconds, drainSeconds } = config.limits;
    const stopping = new AbortController();
    const deadline = new ShutdownDeadline({
      ms: (shutdownSeconds + (socket === undefined ? 0 : drainSeconds) + CLEANUP_SECONDS) * 1000,
      logger,
      describe: () => running?.describeOpen() ?? { pending: ['start'] },
      exit: (code) => process.exit(code),
    });
    stopped.then(() => {
      deadline.start();
      stopping.abort();
    });
    if (socket !== undefined) {
      logger.info({ event: 'socket-activated', ...socket }, 'Guard listens on the socket that was passed to it.');
    }
    const stopOfAnother = socket === undefined ? 0 : shutdownSeconds + drainSeconds + MARGIN_SECONDS;
    const wait = {
      ms: (waitSeconds ?? stopOfAnother) * 1000,
      signal: stopping.signal,
      onWaiting(pid: number | null) {
        logger.info(
          { event: 'data-folder-awaited', pid },
          'Another guard runs on the data folder; waiting for its end.',
        );
        // Loaded while this process waits.
        void import('../main.js');
      },
    };
    const configuration = { writtenAt, readAt, environment, mistakes: [], restartKeys: [], kept: [] };
    const storage = await openStorage(config, logger, { configuration, wait }).catch((error: unknown) => {
      if (stopping.signal.aborted) return null;
      throw error;
    });
    if (storage === null) {
      deadline.release();
      return 0;
    }
    // The long lists are read while `main.js`, nine tenths of guard's code, is loaded.
    const blocked = preloadBlocks(storage.connection);
    const { startGuard } = await import('../main.js');
    const guard = await startGuard(config, { logger, storage, blocked, socket });
    running = guard;
    // Sites may have been quarantined because of their stored settings.
    await storage.lock.writeSites(sitesInUse(guard.sites, configuration));
    reloading.start(createReload({ guard, source, started: config, lock: storage.lock, logLevel, logger }));
    // The configuration changed while this guard waited for another one, which received the signal.
    if ((await configWrittenAt(source).catch(() => writtenAt)) !== writtenAt) reloading.request();
    void notifySupervisor('READY=1');
    collectStartGarbage();
    const signal = await stopped;
    reloading.stop();
    logger.info({ event: 'guard-stopping', signal }, 'Guard finishes running requests and stops.');
    void notifySupervisor('STOPPING=1');
    await guard.close();
    logger.info({ event: 'guard-stopped' }, 'Guard stopped.');
    logger.flush();
    deadline.release();
    return 0;
  },
};

function readSeconds(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UsageError('--wait: use a whole number of seconds.');
}

/** Changes the log level while guard runs. */
interface LogLevelControl {
  /** Applies a changed configuration. A log that a signal has switched to `debug` stays there until the next signal. */
  configure(level: LogLevel): void;
}

/** Each SIGUSR2 switches the log level between `debug` and the configured level. */
function controlLogLevel(logger: Logger, onChange: (level: string) => void): LogLevelControl {
  let configured = logger.level;
  let isSwitched = false;

  function apply(cause: string): void {
    const level = isSwitched ? 'debug' : configured;
    if (level === logger.level) return;
    // Written at `debug`, so that the line appears even when the level would suppress it.
    logger.level = 'debug';
    logger.info({ event: 'log-level-changed', to: level }, `The log level is ${level} now, by ${cause}.`);
    logger.level = level;
    onChange(level);
  }

  process.on('SIGUSR2', () => {
    isSwitched = !isSwitched;
    apply('SIGUSR2');
  });
  return {
    configure(level) {
      configured = level;
      apply('the configuration');
    },
  };
}

/** Resolves with the first signal to stop. The second one ends the process at once. */
function stopSignal(logger: Logger): Promise<NodeJS.Signals> {
  return new Promise((resolveSignal) => {
    let received = false;
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (received) {
          logger.flush();
          process.exit(1);
        }
        received = true;
        resolveSignal(name);
      });
    }
  });
}

/** Runs one reload at a time for SIGHUP; signals that arrive during a reload share the next one. */
function reloadSignal(): { start(reload: () => Promise<void>): void; request(): void; stop(): void } {
  let reload: (() => Promise<void>) | null = null;
  let isStopRequested = false;
  let running = false;

  async function run(): Promise<void> {
    if (running || reload === null) return;
    running = true;
    while (isStopRequested) {
      isStopRequested = false;
      await reload();
    }
    running = false;
  }

  const request = () => {
    isStopRequested = true;
    void run();
  };
  process.on('SIGHUP', request);
  return {
    request,
    start(work) {
      reload = work;
      void run();
    },
    stop() {
      reload = null;
      isStopRequested = false;
    },
  };
}

/**
 * Returns the handler of SIGHUP: it reads the configuration again and serves its sites. An invalid configuration
 * changes nothing. Commands read the outcome in `guard.sites`. Never throws.
 */
function createReload(parts: {
  readonly guard: RunningGuard;
  readonly source: ConfigSource;
  /** The configuration that guard was started with. */
  readonly started: Config;
  readonly lock: DataDirLock;
  readonly logLevel: LogLevelControl;
  readonly logger: Logger;
}): () => Promise<void> {
  const { guard, source, started, lock, logLevel, logger } = parts;
  const digests = new DigestCache();
  const environment = listEnvironment(process.env);
  let restartKeys: readonly string[] = [];
  let kept: NonNullable<AppliedConfiguration['kept']> = [];

  async function apply(): Promise<readonly string[]> {
    try {
      const { sites, quarantined } = guard.sites;
      const { change, rest } = await loadConfigInThread(source, await digests.digest([...sites, ...quarantined]));
      logLevel.configure(rest.logLevel);
      kept = (await guard.applyChange(change)).kept.map(({ id, reason }) => ({ id, reason }));
      restartKeys = changedKeys(started, rest);
      if (restartKeys.length > 0) {
        logger.warn(
          { event: 'restart-needed', keys: restartKeys },
          'Changed keys of the configuration count after a restart.',
        );
      }
      return [];
    } catch (error) {
      const mistakes = error instanceof ConfigError ? error.mistakes : [String(error)];
      logger.error({ event: 'configuration-reload-failed', mistakes }, 'Guard goes on with the sites that it serves.');
      return mistakes;
    }
  }

  return async () => {
    try {
      // Read before the file: a program that replaces the file in the meantime sends another signal.
      const readAt = String(process.hrtime.bigint());
      const writtenAt = await configWrittenAt(source);
      const mistakes = await apply();
      await lock.writeSites(sitesInUse(guard.sites, { writtenAt, readAt, environment, mistakes, restartKeys, kept }));
    } catch (error) {
      logger.error(
        { event: 'sites-file-write-failed', err: error },
        'Commands will not know which sites guard serves.',
      );
    }
  };
}

/** Keys whose changes take effect while guard runs. */
const LIVE_KEYS: ReadonlySet<string> = new Set<keyof ChangedConfig['rest']>(['trustedProxies', 'logLevel']);

/** Keys of the configuration that differ and take effect only after a restart. */
function changedKeys(started: Config, next: ChangedConfig['rest']): string[] {
  const keys = Object.keys(next) as (keyof ChangedConfig['rest'])[];
  return keys.filter((key) => !LIVE_KEYS.has(key) && JSON.stringify(started[key]) !== JSON.stringify(next[key]));
}

/** After an uncaught error the state is unknown: log the error and let the supervisor restart the process. */
function endOnFault(logger: Logger): void {
  const end = (error: unknown) => {
    logger.fatal({ event: 'guard-crashed', err: error }, 'Guard ends because of a fault.');
    logger.flush();
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}
