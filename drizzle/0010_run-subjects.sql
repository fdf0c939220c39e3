ALTER TABLE "runs" ALTER COLUMN "tenant_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "subject" text;--> statement-breakpoint
CREATE UNIQUE INDEX "runs_subject_unique" ON "runs" USING btree ("tenant_id","kind","subject") NULLS NOT DISTINCT WHERE subject is not null and state in ('queued', 'running');--> statement-breakpoint
ALTER TABLE "runs" ADD CONSTRAINT "runs_platform_starter" CHECK ("runs"."tenant_id" is not null or "runs"."started_by" is null);