/** The first message to a PHP worker: how it is set up. */
export interface WorkerSetup {
  readonly kind: 'setup';
  /** Folder with `node_modules` of PHP in WebAssembly. */
  readonly runtimeDir: string;
  /** Folders that PHP sees under their own path. */
  readonly mounts: readonly string[];
  readonly ini: Readonly<Record<string, string>>;
  readonly mailDir: string;
  /** What PHP says of itself as `PHP_SAPI`: the connector lets the command line in without guard. */
  readonly sapi: 'cli' | 'fpm-fcgi';
}

/** One run of PHP: a web request, or a script when `request` is missing. */
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

/** What a worker says: ready for its first run, or the result of one. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'done';
      readonly status: number;
      readonly headers: Readonly<Record<string, readonly string[]>>;
      readonly body: Uint8Array;
      readonly errors: string;
      /** Resident memory of the worker, bytes. */
      readonly memory: number;
    }
  | { readonly kind: 'failed'; readonly error: string };
