import { Agent, type IncomingMessage, request } from 'node:http';

/** Pages that an owner looks at in turn. */
const PAGES = [
  '/wp-admin/',
  '/wp-admin/edit.php',
  '/wp-admin/plugins.php',
  '/wp-admin/users.php',
  '/wp-admin/tools.php',
];
/** A page that takes so long has hung. */
const SILENCE_MS = 30_000;

/** An owner in a browser: logs in once, then looks at one page after the other. */
export interface OwnerAtWork {
  /** Loads pages one after the other, resting a moment between them, for so long. @returns milliseconds of each */
  look(seconds: number): Promise<number[]>;
  /** Logs in again with the same browser. @returns milliseconds */
  logInAgain(): Promise<number>;
  close(): void;
}

export interface Owner {
  /** Origin of the guard. */
  readonly url: string;
  /** Headers of every request: host, address. */
  readonly headers: Readonly<Record<string, string>>;
  readonly user: string;
  readonly password: string;
}

/** What guard gives to a browser that has logged in. */
const DEVICE_COOKIE = 'known_device';

/** Logs in through guard. Throws when WordPress does not take the password, or a page is not a page of wp-admin. */
export async function ownerAtWork(owner: Owner): Promise<OwnerAtWork> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const cookies = new Map([['wordpress_test_cookie', 'WP%20Cookie%20check']]);
  const ask = (method: string, path: string, body?: string) => exchange(owner, agent, cookies, { method, path, body });
  const logIn = async () => {
    const { user, password } = owner;
    const fields = { log: user, pwd: password, 'wp-submit': 'Log In', testcookie: '1' };
    const { status, took } = await ask('POST', '/wp-login.php', new URLSearchParams(fields).toString());
    if (status !== 302) throw new Error(`the owner could not log in: ${status}`);
    return took;
  };
  let next = 0;
  await logIn();
  if (!cookies.has(DEVICE_COOKIE)) throw new Error('guard did not mark the device that logged in');
  return {
    async look(seconds) {
      const taken: number[] = [];
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end) {
        const path = PAGES[next++ % PAGES.length] as string;
        const { status, took, text } = await ask('GET', path);
        if (status !== 200 || !text.includes('id="wpadminbar"')) throw new Error(`${path} answered ${status}`);
        taken.push(took);
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
      }
      return taken;
    },
    logInAgain: logIn,
    close: () => agent.destroy(),
  };
}

/** Between two pages. */
const REST_MS = 50;

interface Answer {
  readonly status: number;
  readonly text: string;
  /** Milliseconds from sending to the last byte. */
  readonly took: number;
}

function exchange(
  { url, headers }: Owner,
  agent: Agent,
  cookies: Map<string, string>,
  asked: { method: string; path: string; body: string | undefined },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, path, body } = asked;
    const start = performance.now();
    const sent = request(`${url}${path}`, { method, agent, timeout: SILENCE_MS }, (response) => {
      keep(cookies, response);
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const took = performance.now() - start;
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString(), took });
      });
    });
    for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
    sent.setHeader('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    if (body !== undefined) sent.setHeader('Content-Type', 'application/x-www-form-urlencoded');
    sent.on('timeout', () => sent.destroy(new Error(`${path} did not answer within ${SILENCE_MS} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

function keep(cookies: Map<string, string>, { headers }: IncomingMessage): void {
  for (const cookie of headers['set-cookie'] ?? []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (name !== undefined && value !== undefined) cookies.set(name, value);
  }
}
