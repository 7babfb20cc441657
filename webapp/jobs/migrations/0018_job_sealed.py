from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0017_job_checks")]

    operations = [
        migrations.AddField("job", "sealed", models.TextField(blank=True, default="")),
    ]
