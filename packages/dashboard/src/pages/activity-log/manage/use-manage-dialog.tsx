import { type ReactNode, useState } from 'react';
import { useQueryClient } from '../../../data/use-query.js';
import { useDialogs } from '../../../dialogs/use-dialogs.js';
import { BLOCKED_COUNT_KEY } from '../use-blocked-count.js';
import type { ManageDialogProps, Subject } from './manage-dialog.js';

export interface ManageDialogOpener {
  readonly open: (subject: Subject) => void;
  /** To be drawn somewhere in the page. */
  readonly dialog: ReactNode;
}

const dialogs = { manage: () => import('./manage-dialog.js') };

/** Opens Manage IP Traffic or Manage User Traffic. @param onChanged the lists must be read again */
export function useManageDialog(onChanged: () => void): ManageDialogOpener {
  const queries = useQueryClient();
  const [subject, setSubject] = useState<Subject | null>(null);
  const { Current, open, closed } = useDialogs<'manage', ManageDialogProps>(dialogs);

  function changed(): void {
    void queries.invalidateQueries({ queryKey: BLOCKED_COUNT_KEY });
    onChanged();
  }

  return {
    open(next) {
      setSubject(next);
      open('manage');
    },
    dialog:
      Current === null || subject === null ? null : <Current subject={subject} onChanged={changed} onClosed={closed} />,
  };
}
