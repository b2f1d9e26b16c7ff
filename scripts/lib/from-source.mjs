/** Export condition that resolves the workspace's packages to their sources, for tools that read TypeScript. */
export const SOURCE_CONDITION = 'security-optimizer-source';
