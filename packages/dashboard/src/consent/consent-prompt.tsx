import { useEffect, useState } from 'react';
import { useDialogs } from '../dialogs/use-dialogs.js';
import { useServices } from '../services.js';
import type { ConsentDialogProps } from './consent-dialog.js';

const dialogs = { consent: () => import('./consent-dialog.js') };

/** Opens the consent dialog on any page while one of its questions is to be shown. Answered once, both are over. */
export function ConsentPrompt() {
  const { config } = useServices();
  const [asks, setAsks] = useState(config.consent);
  const { Current, open, closed } = useDialogs<'consent', ConsentDialogProps>(dialogs);
  const isDue = asks.showDataField || asks.showEmailField;

  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens once, with the page
  useEffect(() => {
    if (isDue) open('consent');
  }, []);

  if (Current === null) return null;
  return (
    <Current
      {...asks}
      onClosed={() => {
        setAsks({ showDataField: false, showEmailField: false });
        closed();
      }}
    />
  );
}
