import { Agent, type IncomingMessage, request } from 'node:http';

/** Pages that the owner loads in turn. */
const PAGES = [
  '/wp-admin/',
  '/wp-admin/edit.php',
  '/wp-admin/plugins.php',
  '/wp-admin/users.php',
  '/wp-admin/tools.php',
];
/** Timeout of a page. */
const TIMEOUT_MS = 30_000;

/** An owner in a browser, who logs in once and then loads one page after the other. */
export interface OwnerSession {
  /** Loads pages one after the other with short pauses. @returns milliseconds of each */
  loadPages(seconds: number): Promise<number[]>;
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

/** Guard sets it after a login. */
const DEVICE_COOKIE = 'known_device';

/** Logs in through guard. Throws if WordPress rejects the password or responds with another page. */
export async function logInOwner(owner: Owner): Promise<OwnerSession> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const cookies = new Map([['wordpress_test_cookie', 'WP%20Cookie%20check']]);
  const send = (method: string, path: string, body?: string) => exchange(owner, agent, cookies, { method, path, body });
  const logIn = async () => {
    const { user, password } = owner;
    const fields = { log: user, pwd: password, 'wp-submit': 'Log In', testcookie: '1' };
    const { status, ms } = await send('POST', '/wp-login.php', new URLSearchParams(fields).toString());
    if (status !== 302) throw new Error(`the owner could not log in: ${status}`);
    return ms;
  };
  let next = 0;
  await logIn();
  if (!cookies.has(DEVICE_COOKIE)) throw new Error('guard did not mark the device that logged in');
  return {
    async loadPages(seconds) {
      const durations: number[] = [];
      const end = performance.now() + seconds * 1000;
      while (performance.now() < end) {
        const path = PAGES[next++ % PAGES.length] as string;
        const { status, ms, text } = await send('GET', path);
        if (status !== 200 || !text.includes('id="wpadminbar"')) throw new Error(`${path} answered ${status}`);
        durations.push(ms);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
      return durations;
    },
    logInAgain: logIn,
    close: () => agent.destroy(),
  };
}

/** Pause between two pages. */
const PAUSE_MS = 50;

interface Response {
  readonly status: number;
  readonly text: string;
  /** Milliseconds from sending to the last byte. */
  readonly ms: number;
}

function exchange(
  { url, headers }: Owner,
  agent: Agent,
  cookies: Map<string, string>,
  details: { method: string; path: string; body: string | undefined },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const { method, path, body } = details;
    const start = performance.now();
    const sent = request(`${url}${path}`, { method, agent, timeout: TIMEOUT_MS }, (response) => {
      storeCookies(cookies, response);
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const ms = performance.now() - start;
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString(), ms });
      });
    });
    for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
    sent.setHeader('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    if (body !== undefined) sent.setHeader('Content-Type', 'application/x-www-form-urlencoded');
    sent.on('timeout', () => sent.destroy(new Error(`${path} did not answer within ${TIMEOUT_MS} ms`)));
    sent.on('error', reject);
    sent.end(body);
  });
}

function storeCookies(cookies: Map<string, string>, { headers }: IncomingMessage): void {
  for (const cookie of headers['set-cookie'] ?? []) {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (name !== undefined && value !== undefined) cookies.set(name, value);
  }
}
