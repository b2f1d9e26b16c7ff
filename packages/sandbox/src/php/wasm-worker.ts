import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The first message to a worker: its configuration. */
export interface WorkerSetup {
  readonly kind: 'setup';
  /** Folder with `node_modules` of PHP in WebAssembly. */
  readonly runtimeDir: string;
  /** Folders that PHP sees under their own path. */
  readonly mounts: readonly string[];
  readonly ini: Readonly<Record<string, string>>;
  readonly mailDir: string;
  /** Value of `PHP_SAPI`. The connector allows the command line without guard. */
  readonly sapi: 'cli' | 'fpm-fcgi';
}

/** A run of PHP: a web request, or a script if there is no `request`. */
export interface PhpRun {
  readonly kind: 'run';
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
  readonly request?: {
    readonly method: string;
    readonly uri: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly server: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  };
}

export type WorkerMessage =
  /** The worker is ready for its first run. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'done';
      readonly status: number;
      readonly headers: Readonly<Record<string, readonly string[]>>;
      readonly body: Uint8Array;
      readonly errors: string;
      /** Resident memory of the worker in bytes. */
      readonly memory: number;
    }
  | { readonly kind: 'failed'; readonly error: string };

/** The used parts of @php-wasm. Its packages are installed on first use, so their types are not available. */
interface Php {
  mkdir(path: string): void;
  mount(path: string, handler: unknown): Promise<unknown>;
  chdir(path: string): void;
  setSapiName(name: string): Promise<void>;
  run(options: object): Promise<PhpResponse>;
  setCommandSpawnHandler(command: string, handler: unknown): void;
  addEventListener(type: 'sendmail.spawned', listener: (event: { stdin: ReadableStream<Uint8Array> }) => void): void;
}
interface PhpResponse {
  readonly httpStatusCode: number;
  readonly headers: Record<string, string[]>;
  readonly bytes: Uint8Array;
  readonly errors: string;
}

/** The one PHP of this process. SQLite relies on file locks, which work between processes only. */
let php: Promise<Php> | null = null;

process.on('message', async (message: WorkerSetup | PhpRun) => {
  try {
    if (message.kind === 'setup') {
      php = loadPhp(message);
      await php;
      send({ kind: 'ready' });
    } else if (php !== null) {
      send(await execute(await php, message));
    }
  } catch (error) {
    send({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// The parent process has ended.
process.on('disconnect', () => process.exit(0));

async function loadPhp(setup: WorkerSetup): Promise<Php> {
  const require = createRequire(join(setup.runtimeDir, 'package.json'));
  const importFrom = (name: string) => import(pathToFileURL(require.resolve(name)).href);
  const { loadNodeRuntime, createNodeFsMountHandler } = await importFrom('@php-wasm/node');
  const { PHP, setPhpIniEntries } = await importFrom('@php-wasm/universal');
  const { sendmailSpawnHandler } = await importFrom('@php-wasm/util');
  const instance: Php = new PHP(await loadNodeRuntime('8.3', { emscriptenOptions: { processId: process.pid } }));
  await instance.setSapiName(setup.sapi);
  await setPhpIniEntries(instance, setup.ini);
  for (const dir of setup.mounts) {
    instance.mkdir(dir);
    await instance.mount(dir, createNodeFsMountHandler(dir));
  }
  instance.setCommandSpawnHandler('sendmail', sendmailSpawnHandler(instance));
  instance.addEventListener('sendmail.spawned', ({ stdin }) => {
    saveMail(stdin, setup.mailDir).catch((error: Error) => process.stderr.write(`Mail was lost: ${error.message}\n`));
  });
  return instance;
}

/** Writes a mail into a file. No mail leaves the machine. */
async function saveMail(message: ReadableStream<Uint8Array>, dir: string): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of message as unknown as AsyncIterable<Uint8Array>) parts.push(part);
  await writeFile(join(dir, `mail-${randomBytes(4).toString('hex')}`), Buffer.concat(parts));
}

async function execute(instance: Php, run: PhpRun): Promise<WorkerMessage> {
  const request = run.request;
  instance.chdir(run.script.slice(0, run.script.lastIndexOf('/')) || '/');
  const response = await runPhp(instance, {
    scriptPath: run.script,
    env: run.env,
    ...(request === undefined
      ? {}
      : {
          relativeUri: request.uri,
          method: request.method,
          headers: request.headers,
          body: request.body,
          $_SERVER: request.server,
        }),
  });
  return {
    kind: 'done',
    status: response.httpStatusCode,
    headers: response.headers,
    body: response.bytes,
    errors: response.errors,
    memory: process.memoryUsage.rss(),
  };
}

/** After a fatal error of PHP, the error contains the response that a web server would send. */
async function runPhp(instance: Php, options: object): Promise<PhpResponse> {
  try {
    return await instance.run(options);
  } catch (error) {
    const response = (error as { response?: PhpResponse }).response;
    if (response === undefined) throw error;
    return response;
  }
}

function send(message: WorkerMessage): void {
  process.send?.(message);
}
