import { ApiFailure } from '../api/api-failure.js';
import type { OptionsSource } from './options-source.js';

/** @throws ApiFailure when the answer holds nothing that can be used */
export function readFilled<Options extends object>(source: OptionsSource<Options>, data: unknown): Options {
  const options = source.read(data);
  if (Object.keys(options).length === 0) throw new ApiFailure('refused');
  return options;
}
