import { MAX_BODY_BYTES } from '@security-optimizer/contract/limits';
import { ApiError } from '../lib/api-error.js';

export { MAX_BODY_BYTES };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request body as JSON, whatever its Content-Type said. An absent or blank body is an empty object.
 * A key named `__proto__` becomes an ordinary key, and schemas read only the keys they name.
 *
 * @throws ApiError invalid_json
 */
export function parseBody(bytes: Uint8Array): unknown {
  try {
    const text = utf8.decode(bytes);
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the body; it must not reach the log.
    throw new ApiError('invalid_json', { cause: new Error((cause as Error).name) });
  }
}
