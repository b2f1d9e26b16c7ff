import type { Plugin } from 'vite';

export const NAMED_EXPORTS: ReadonlyMap<string, readonly string[]>;
export function reactParts(): Plugin;
export function findRefusedParts(source: string): string[];
export function keepUsedParts(code: string, file: 'react' | 'react-dom' | 'react-dom-client'): Promise<string>;
