import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { BugReport, screenshotMaxBytes } from '@portal/domain/support/bug-reports';
import { sendBugReport } from '@portal/usecases/support/send-bug-report';
import { acceptForms, formFile, readForm } from '../uploads.ts';
import type { App } from '../zod-app.ts';

const BugReportForm = BugReport.extend({ screenshot: formFile(screenshotMaxBytes) }).meta({
  example: {
    title: 'Drucken bricht ab',
    description: 'Beim Drucken der zweiten Seite.',
    originKind: 'desktop',
    originVersion: '1.4.2',
    originPlatform: 'windows',
    originArch: 'x86_64',
    screenshot: '(bytes)',
  },
});

/** Bug reports. */
export function registerSupport(app: App): void {
  acceptForms(app, (scope) => {
    scope.post(
      '/bug-reports',
      {
        config: {
          access: signedIn,
          errors: {
            400: ['NOT_A_PNG'],
            409: ['NO_RECIPIENT', 'LIMIT_REACHED'],
            429: ['RATE_LIMITED'],
            502: ['MAIL_DELIVERY_FAILED'],
          },
        },
        schema: {
          operationId: 'sendBugReport',
          tags: ['support'],
          summary: 'Report a bug with a screenshot',
          description:
            'Multipart with title, description, one PNG of at most 4 MiB and, in the `origin…` fields, the app and system of the reporter; if these are missing, they are taken from the user agent. The report is mailed to the recipient named in the organization’s mail settings. The answer is sent after the mail server has accepted the mail, and replies to the mail go to the reporter. An account can send five reports in ten minutes.',
          body: BugReportForm,
          response: {
            202: z.object({ accepted: z.literal(true) }).meta({ example: { accepted: true } }),
          },
        },
      },
      async (request) => {
        const { screenshot, ...report } = await readForm(request);
        await sendBugReport(request.ctx, report, screenshot.bytes);
        return { accepted: true as const };
      },
    );
  });
}
