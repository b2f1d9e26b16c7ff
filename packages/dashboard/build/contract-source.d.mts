export declare const contractSource: { find: RegExp; replacement: string };
