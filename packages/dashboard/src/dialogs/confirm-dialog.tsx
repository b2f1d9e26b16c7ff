import type { ReactNode } from 'react';
import { Button } from '../components/button.js';
import { Dialog } from './dialog.js';
import { useClosing } from './use-closing.js';

export interface ConfirmDialogProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly confirmText: string;
  readonly cancelText: string;
  readonly onClosed: () => void;
  readonly onConfirm: () => void;
}

/** Asks before something that cannot be taken back. The focus is on the way out. */
export function ConfirmDialog({ title, children, confirmText, cancelText, onClosed, onConfirm }: ConfirmDialogProps) {
  const closing = useClosing(onClosed);

  function confirm(): void {
    closing.close();
    onConfirm();
  }

  return (
    <Dialog
      role="alertdialog"
      title={title}
      closing={closing}
      cancelText={cancelText}
      onSubmit={confirm}
      footer={
        <Button kind="danger" submit>
          {confirmText}
        </Button>
      }
    >
      {children}
    </Dialog>
  );
}
