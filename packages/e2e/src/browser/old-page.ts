import { WebSocket } from 'undici';
import { until } from '../stacks/until.js';

/** A page of an old browser, spoken to in its debugging protocol. Today's Playwright asks for more than it has. */
export interface OldPage {
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  /** Value of an expression; promises are waited for. */
  evaluate<T>(expression: string): Promise<T>;
  /** Faults of scripts and errors in the console since the start. */
  readonly wrong: readonly string[];
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** Connects to the first page of the browser on that debugging port. */
export async function openOldPage(port: number): Promise<OldPage> {
  const address = await until('the browser has a page', async () => {
    const list = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    return list.find(({ type }) => type === 'page')?.webSocketDebuggerUrl;
  });
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('The page can not be reached.')));
  });
  const waiting = new Map<number, (message: Message) => void>();
  const wrong: string[] = [];
  let last = 0;

  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) {
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    } else if (message.method === 'Runtime.exceptionThrown') {
      wrong.push(JSON.stringify(message.params?.exceptionDetails).slice(0, 1000));
    } else if (message.method === 'Runtime.consoleAPICalled' && message.params?.type === 'error') {
      wrong.push(JSON.stringify(message.params.args).slice(0, 1000));
    }
  });

  const send: OldPage['send'] = (method, params = {}) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, ({ result, error }) =>
        error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result ?? {}),
      );
      socket.send(JSON.stringify({ id: last, method, params }));
    });

  await send('Page.enable');
  await send('Runtime.enable');
  return {
    send,
    wrong,
    async evaluate<T>(expression: string) {
      const { result, exceptionDetails } = await send('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails).slice(0, 500));
      return (result as { value: T }).value;
    },
    close: () => socket.close(),
  };
}
