import { DownloadError } from './download.js';

/**
 * The SHA-1 that wordpress.org publishes beside a release file (`<url>.sha1`), 40 hexadecimal digits.
 * Throws `DownloadError` when there is no such release or no way to the server.
 */
export async function releaseChecksum(url: string, release: string): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${url}.sha1`, { signal: AbortSignal.timeout(20_000) });
  } catch {
    throw new DownloadError(
      `Cannot reach ${new URL(url).host}, where WordPress ${release} comes from. ` +
        'Connect to the network, or leave out --wordpress-version to use the version from the npm registry.',
    );
  }
  const text = (await response.text()).trim();
  if (response.status === 404) throw new DownloadError(`wordpress.org has no WordPress ${release}.`);
  if (response.status !== 200 || !/^[0-9a-f]{40}$/.test(text)) {
    throw new DownloadError(`${url}.sha1 answered ${response.status} without a checksum.`);
  }
  return text;
}
