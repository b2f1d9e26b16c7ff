import type { Service } from '../process/service.js';
import type { RunPhp } from '../wordpress/install.js';

export function wasmPhpRunner(_options: unknown, _dir: string): RunPhp {
  throw new Error('not built yet');
}
export async function startWasmPhp(_options: unknown): Promise<{ upstream: string; service: Service }> {
  throw new Error('not built yet');
}
