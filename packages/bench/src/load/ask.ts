import { type Agent, get } from 'node:http';

/** Asks once. @returns the status of the answer; rejects when there is none */
export function statusFor(
  url: string,
  headers: Readonly<Record<string, string>>,
  agent: Agent | false = false,
): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode as number));
      response.on('error', reject);
    }).on('error', reject);
  });
}
