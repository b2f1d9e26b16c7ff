/// <reference types="vite/client" />

declare module 'virtual:polyfills';
declare module 'abortcontroller-polyfill/dist/polyfill-patch-fetch';
