import { useEffect, useState } from 'react';
import { useSite } from '../../api/site-context.js';
import { useDialogs } from '../../ui/lazy.js';
import type { ConsentDialogProps } from './consent-dialog.js';

const dialogs = { consent: () => import('./consent-dialog.js') };

/** Opens the consent dialog on any page while a consent is missing, once per page view. */
export function ConsentPrompt() {
  const { config } = useSite();
  const [questions, setQuestions] = useState(config.consent);
  const { Current, open, closed } = useDialogs<'consent', ConsentDialogProps>(dialogs);
  const isDue = questions.showDataField || questions.showEmailField;

  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens once, with the page
  useEffect(() => {
    if (isDue) open('consent');
  }, []);

  if (Current === null) return null;
  return (
    <Current
      {...questions}
      onClosed={() => {
        setQuestions({ showDataField: false, showEmailField: false });
        closed();
      }}
    />
  );
}
