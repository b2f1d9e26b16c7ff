export declare const workspaceSource: { find: RegExp; replacement: string };
