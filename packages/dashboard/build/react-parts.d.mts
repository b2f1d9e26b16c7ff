import type { Plugin } from 'vite';

export function reactParts(): Plugin;
export function findRefusedImports(source: string): string[];
export function keepUsedParts(code: string, file: 'react' | 'react-dom' | 'react-dom-client'): Promise<string>;
