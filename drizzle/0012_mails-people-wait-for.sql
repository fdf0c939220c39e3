DROP INDEX "mails_due";--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "is_awaited" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "mails_due" ON "mails" USING btree ("tenant_id","is_awaited","due_at") WHERE state in ('queued', 'sending');