import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import contentsSheet from './contents.css?inline';
import { VARIANTS, type Variant } from './example.js';
import { groups } from './groups/index.js';

const WIDTHS = [1440, 1000, 390] as const;
const LANGUAGES = { en: 'English', de: 'Deutsch', pseudo: 'Pseudo-locale' } as const;

/** The list of all examples beside the selected one. The hash of the URL names it, or a whole group. */
function Contents() {
  const [shown, setShown] = useState(shownByHash);
  const [variant, setVariant] = useState<Variant>(VARIANTS.wide);

  useEffect(() => {
    const follow = (): void => setShown(shownByHash());
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);

  const query = new URLSearchParams({ show: shown, dir: variant.dir, language: variant.language });
  return (
    <>
      <nav aria-label="Examples">
        {groups.map((group) => {
          const isOpen = group.id === shown || group.examples.some(({ id }) => id === shown);
          return (
            <details key={group.id} open={isOpen}>
              <summary>
                <Entry id={group.id} title={group.title} shown={shown} />
              </summary>
              <ul>
                {group.examples.map(({ id, title }) => (
                  <li key={id}>
                    <Entry id={id} title={title} shown={shown} />
                  </li>
                ))}
              </ul>
            </details>
          );
        })}
      </nav>
      <main>
        <form>
          <Choice
            name="Width"
            options={WIDTHS.map((width) => [width, String(width)])}
            value={variant.width}
            onChoose={(width) => setVariant({ ...variant, width })}
          />
          <Choice
            name="Direction"
            options={[
              ['ltr', 'Left to right'],
              ['rtl', 'Right to left'],
            ]}
            value={variant.dir}
            onChoose={(dir) => setVariant({ ...variant, dir })}
          />
          <Choice
            name="Language"
            options={(Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]).map((id) => [id, LANGUAGES[id]])}
            value={variant.language}
            onChoose={(language) => setVariant({ ...variant, language })}
          />
        </form>
        <iframe key={`${query}`} title={shown} src={`stage.html?${query}`} style={{ width: variant.width }} />
      </main>
    </>
  );
}

function Entry({ id, title, shown }: { readonly id: string; readonly title: string; readonly shown: string }) {
  return (
    <a href={`#${id}`} aria-current={id === shown ? 'page' : undefined}>
      {title}
    </a>
  );
}

interface ChoiceProps<Value extends string | number> {
  readonly name: string;
  readonly options: readonly (readonly [Value, string])[];
  readonly value: Value;
  readonly onChoose: (value: Value) => void;
}

function Choice<Value extends string | number>({ name, options, value, onChoose }: ChoiceProps<Value>) {
  return (
    <fieldset>
      <legend>{name}</legend>
      {options.map(([option, text]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChoose(option)} /> {text}
        </label>
      ))}
    </fieldset>
  );
}

function shownByHash(): string {
  const wanted = window.location.hash.slice(1);
  const isKnown = groups.some(({ id, examples }) => id === wanted || examples.some((example) => example.id === wanted));
  return isKnown ? wanted : (groups[0]?.id ?? '');
}

const style = document.createElement('style');
style.textContent = contentsSheet;
document.head.append(style);
createRoot(document.getElementById('contents') as HTMLElement).render(<Contents />);
