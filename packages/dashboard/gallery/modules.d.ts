declare module 'virtual:sheets' {
  /** The dashboard's style sheet, and its right-to-left twin. */
  export const ltr: string;
  export const rtl: string;
}

declare module 'virtual:locales' {
  /** Jed locale data of a language that is not English. */
  export const locales: Readonly<Record<'de' | 'pseudo', object>>;
}
