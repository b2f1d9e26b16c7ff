import type { Language } from './language.js';

/** Makes something once per language, when it is first wanted. There are as many as there are translations. */
export function perLanguage<Made>(make: (language: Language) => Made): (language: Language) => Made {
  const made = new WeakMap<Language, Made>();
  return (language) => {
    let own = made.get(language);
    if (own === undefined) {
      own = make(language);
      made.set(language, own);
    }
    return own;
  };
}
