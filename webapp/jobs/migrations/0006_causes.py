from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0005_round_absent'),
    ]

    operations = [
        migrations.AddField(
            model_name='worker',
            name='ended_by',
            field=models.CharField(blank=True, default='', max_length=16),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='worker',
            name='known_from',
            field=models.TextField(blank=True, default=''),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='round',
            name='resumed_step',
            field=models.PositiveBigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='round',
            name='last_step',
            field=models.PositiveBigIntegerField(null=True),
        ),
    ]
