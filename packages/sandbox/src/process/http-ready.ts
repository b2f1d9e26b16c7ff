import { get } from 'node:http';

/** Asks an address once over HTTP; true for any answer below 500. */
export function answersHttp(url: string, seconds = 5): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, timeout: seconds * 1000 }, (response) => {
      response.resume();
      resolve((response.statusCode ?? 500) < 500);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
