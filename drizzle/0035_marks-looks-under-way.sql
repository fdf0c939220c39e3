ALTER TABLE "monitored_servers" ADD COLUMN "look_run_id" uuid;--> statement-breakpoint
ALTER TABLE "monitored_servers" ADD COLUMN "lost_looks" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "monitored_servers" ADD COLUMN "rests_until" timestamp (3) with time zone;