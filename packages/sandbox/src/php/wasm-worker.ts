import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PhpRun, WorkerMessage, WorkerSetup } from './wasm-messages.js';

/** The parts of @php-wasm that are used here; the packages are installed on first use only, so they bring no types. */
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
/** A process of its own with one PHP: file locks, which SQLite relies on, hold between processes only. */
let php: Promise<Php> | null = null;

process.on('message', async (message: WorkerSetup | PhpRun) => {
  try {
    if (message.kind === 'setup') {
      php = load(message);
      await php;
      send({ kind: 'ready' });
    } else if (php !== null) {
      send(await answer(await php, message));
    }
  } catch (error) {
    send({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
// The server that started this worker is gone.
process.on('disconnect', () => process.exit(0));

async function load(setup: WorkerSetup): Promise<Php> {
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
    keepMail(stdin, setup.mailDir).catch((error: Error) => process.stderr.write(`Mail was lost: ${error.message}\n`));
  });
  return instance;
}

/** Mail never leaves the machine: each message becomes a file that the owner can read. */
async function keepMail(message: ReadableStream<Uint8Array>, dir: string): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of message as unknown as AsyncIterable<Uint8Array>) parts.push(part);
  await writeFile(join(dir, `mail-${randomBytes(4).toString('hex')}`), Buffer.concat(parts));
}

async function answer(instance: Php, run: PhpRun): Promise<WorkerMessage> {
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

/** A fatal error of PHP is an answer too: the error carries the response, which is what a web server would send. */
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
