import { conflict, type PortalError } from '@portal/domain/errors';

export const notDue = (): PortalError =>
  conflict('REMINDER_NOT_DUE', 'Only a reminder that is due can be snoozed or marked as done.');
