import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names; values of repeated headers joined with a comma and a space. */
  readonly headers: Readonly<Record<string, string>>;
  /** Status line and headers as they came. */
  readonly head: string;
  readonly body: string;
}

/** An answer that takes longer is none. */
const SECONDS = 30;

/**
 * Writes bytes on a socket of their own and reads the answer until the other side closes. Nothing is tidied on the
 * way: what the test spells is what travels.
 *
 * @param way `to`: the address to go to, 127.0.0.1 unless said; `from`: the one of this machine to come from, for
 *   example 127.0.0.9
 */
export function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  { to = '127.0.0.1', from }: { readonly to?: string; readonly from?: string } = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: to, port, ...(from === undefined ? {} : { localAddress: from }) });
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      // Also when a part has come.
      reject(new Error(`No whole answer came within ${SECONDS} s.`));
      socket.destroy();
    }, SECONDS * 1000);
    socket.on('connect', () => socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses in the midst of a body resets the connection; what it said before still counts.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined));
    socket.on('close', () => {
      clearTimeout(timer);
      const answer = readAnswer(Buffer.concat(chunks).toString('latin1'));
      if (answer === null) reject(new Error('The connection was closed without an answer.'));
      else resolve(answer);
    });
  });
}

/** Reads the last answer of a connection, since `100 Continue` and `103 Early Hints` may come before it. */
function readAnswer(text: string): RawAnswer | null {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const head = text.slice(0, end);
  const rest = text.slice(end + 4);
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  if (status >= 100 && status < 200) return readAnswer(rest);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return { status, headers, head, body: /chunked/i.test(headers['transfer-encoding'] ?? '') ? unchunk(rest) : rest };
}

function unchunk(text: string): string {
  let body = '';
  let at = 0;
  for (;;) {
    const line = text.indexOf('\r\n', at);
    if (line === -1) return body;
    const size = Number.parseInt(text.slice(at, line), 16);
    if (!(size > 0)) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}
